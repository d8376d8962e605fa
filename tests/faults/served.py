"""What `clew serve` serves in fault tests: the plans, with whatever death or missing guard the environment names."""

from __future__ import annotations

from tests.faults import broken, kill_points, plans

kill_points.install()
kill_points.arm()
broken.install()
agent = plans.make_agent()
