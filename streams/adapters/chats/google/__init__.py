"""Chats in the exports of Google Takeout."""
