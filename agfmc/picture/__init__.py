"""Pictures, where people would rather look than read; nothing else imports matplotlib."""
