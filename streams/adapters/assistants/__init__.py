"""Chats with assistants: ChatGPT, claude.ai, Claude Code."""
