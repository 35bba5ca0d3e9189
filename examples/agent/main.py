"""Lets the agent travel while its worker is killed at each step in turn, and prints what the services were asked."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from services import Services

from semel.testing import crash_environment

HERE = Path(__file__).parent


def start_worker(**crash):
    command = [sys.executable, "-m", "semel", "worker", "--app", "agent:app"]
    return subprocess.Popen(command, cwd=HERE, env={**os.environ, **crash}, stderr=subprocess.DEVNULL)


def finish(run):
    worker = start_worker()
    result = run.result(timeout=60)
    worker.terminate()
    worker.wait()
    return result


with tempfile.TemporaryDirectory() as folder:
    services = Services()
    os.environ["AGENT_DATABASE"] = f"sqlite:///{folder}/agent.db"
    os.environ["LLM_API"] = f"{services.url}/v1"
    os.environ["TRAVEL_API"] = services.url
    from agent import app, travel

    print("A worker is killed after each step, as soon as its record is durable:")
    run = app.start(travel, "two nights in the sun", id="one")
    for _ in range(6):
        start_worker(**crash_environment("step.recorded")).wait()
    print(finish(run))
    print(*services.asked, sep="\n")
    print("steps:", *(step.path for step in run.steps()), sep="\n")

    services.asked.clear()
    print("A worker is killed in the window: the LLM has answered, and the answer is not yet recorded:")
    run = app.start(travel, "two nights in the sun", id="two")
    start_worker(**crash_environment("step.returned")).wait()
    print(finish(run))
    print(*services.asked, sep="\n")
    print("notes:", *(f"{note.kind}: {note.path}" for note in run.notes()), sep="\n")
    app.close()
