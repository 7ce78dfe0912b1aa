"""The paper's experiments, redone: every table, figure and claim, and a report of them."""

from fairduel.paper.reproduction import Reproduction, reproduce

__all__ = ["Reproduction", "reproduce"]
