"""E-mail: single files, folders of them, mbox and Maildir."""
