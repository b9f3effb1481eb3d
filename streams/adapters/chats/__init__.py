"""Chats among people: Slack, WhatsApp, Telegram, Discord, iMessage and others."""
