"""Binary learners behind one protocol, and Platt's sigmoid."""
