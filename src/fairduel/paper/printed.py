"""The numbers that the paper prints in Table 1: mean and half of the 95 % interval."""

# By metric and learner. The utilitarian column is the better of the two learners for each metric.
TABLE1: dict[str, dict[str, tuple[float, float]]] = {
    "regret": {
        "fair-etc": (201.7, 65.8),
        "fair-eps": (215.7, 72.2),
        "utilitarian": (404.9, 85.5),
        "uniform": (577.0, 228.3),
    },
    "minimum_welfare": {
        "fair-etc": (70545.8, 3615.3),
        "fair-eps": (71798.1, 3384.1),
        "utilitarian": (47101.4, 5886.1),
        "uniform": (73567.5, 3255.9),
    },
    "nash_welfare": {
        "fair-etc": (107370.3, 2379.0),
        "fair-eps": (106950.1, 2359.3),
        "utilitarian": (103755.9, 3001.9),
        "uniform": (98667.9, 2113.0),
    },
    "gini": {
        "fair-etc": (0.1176, 0.0103),
        "fair-eps": (0.1164, 0.0098),
        "utilitarian": (0.1998, 0.0146),
        "uniform": (0.0883, 0.0084),
    },
    "utilitarian_welfare": {
        "fair-etc": (110178.7, 2579.4),
        "fair-eps": (109632.8, 2505.0),
        "utilitarian": (113472.5, 2311.3),
        "uniform": (100076.0, 2066.4),
    },
}

# Places after the point to which each metric is printed.
DECIMALS = {
    "regret": 1,
    "minimum_welfare": 1,
    "nash_welfare": 1,
    "gini": 4,
    "utilitarian_welfare": 1,
}
