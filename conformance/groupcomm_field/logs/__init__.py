"""Logs of members that ran: replayed, tied to one another, and judged."""
