"""The paper's experiments, redone: every table, figure and claim, and a report of them.

``fairduel.paper.reproduce.reproduce`` does it; so does the command ``fairduel reproduce``.
"""
