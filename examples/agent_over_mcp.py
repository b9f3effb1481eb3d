"""The use of MCP in an agent's program: start the server, list the tools, remember, recall.

python examples/agent_over_mcp.py
"""

import asyncio
import sys
import tempfile

from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from recollect import Recollect


async def main(home: str) -> None:
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "recollect", "--home", home, "mcp"]
    )
    async with Client(stdio_client(server)) as agent:
        tools = (await agent.list_tools()).tools
        print("the first of its tools:", tools[0].name, "and", tools[1].name)
        # > the first of its tools: recall and context

        said = {"content": "Ada takes the night train to Vienna on Friday."}
        await agent.call_tool("retain", said)

        found = await agent.call_tool("recall", {"query": "When does Ada go to Vienna?"})
        print(found.structured_content["results"][0]["text"])
        # > Ada takes the night train to Vienna on Friday.

        # An error message tells the agent what to correct.
        refused = await agent.call_tool("recall", {"query": "Vienna", "max_result": 3})
        print(refused.is_error, "max_results" in str(refused.content))
        # > True True


with tempfile.TemporaryDirectory() as directory:
    Recollect(f"{directory}/home", encoder="none").close()
    asyncio.run(main(f"{directory}/home"))
