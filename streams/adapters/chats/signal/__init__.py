"""Chats of Signal, as the app and sigexport export them."""
