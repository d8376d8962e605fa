"""What a thread promises: agents, runs, tools and approvals, with or without a server."""
