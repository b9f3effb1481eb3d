"""Feasts of the calendars of moon and sun, computed for the shipped table of days."""
