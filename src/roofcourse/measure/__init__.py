"""Live measurements on this machine. Everything here loads torch, so nothing else imports it before it is needed."""
