"""The classic group protocol: JoinGroup, SyncGroup, Heartbeat, LeaveGroup; one of the members assigns."""
