"""A travel agent: the ordinary OpenAI client and tools that call other services. Nothing in it is marked as a step."""

import json
import os

import httpx
from openai import OpenAI

from semel import App

app = App("agent", database=os.environ.get("AGENT_DATABASE", "sqlite:///agent.db"))


def weather(city: str) -> str:
    return httpx.get(f"{os.environ['TRAVEL_API']}/weather", params={"city": city}).text


def book(city: str, nights: int) -> str:
    answer = httpx.post(f"{os.environ['TRAVEL_API']}/bookings", json={"city": city, "nights": nights})
    return answer.raise_for_status().text


TOOLS = {"weather": weather, "book": book}


def schema(name: str, **parameters: str) -> dict:
    properties = {parameter: {"type": kind} for parameter, kind in parameters.items()}
    return {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": properties}}}


SCHEMAS = [schema("weather", city="string"), schema("book", city="string", nights="integer")]


@app.workflow
def travel(wish: str) -> str:
    llm = OpenAI(base_url=os.environ["LLM_API"], api_key=os.environ.get("LLM_KEY", "sk-example"))
    messages = [{"role": "user", "content": wish}]
    while True:
        answer = llm.chat.completions.create(model="gpt-example", messages=messages, tools=SCHEMAS)
        said = answer.choices[0].message
        messages.append(said.to_dict())
        if not said.tool_calls:
            return said.content
        for call in said.tool_calls:
            result = TOOLS[call.function.name](**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
