"""Session of the Python client with `ccm mcp`: session.py MODE COMMAND [ARGUMENT...]

Prints a line for each step. Ends with an error at the first answer that is not as it should be.
"""

import sys

import anyio
from mcp import Client, StdioServerParameters


def step(name):
    print(name, flush=True)


def text(result):
    return result.content[0].text


async def main(mode, command, arguments):
    server = StdioServerParameters(command=command, args=arguments)
    async with Client(server, mode=mode) as client:
        step(f"connected {client.protocol_version}")

        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert {"exec", "bash", "code_execution", "validate", "resume"} <= set(tools), tools
        assert tools["exec"].annotations.destructive_hint is True, tools["exec"]
        assert tools["validate"].annotations.read_only_hint is True, tools["validate"]
        assert "exitCode" in tools["exec"].output_schema["properties"], tools["exec"]
        step("list")

        result = await client.call_tool("exec", {"command": "printf", "args": ["%s\n", "a b"]})
        assert not result.is_error and text(result) == "a b\n", result
        assert result.structured_content["exitCode"] == 0, result
        assert result.structured_content["trust"] == "EXTERNAL_UNTRUSTED", result
        step("run")

        result = await client.call_tool("exec", {"command": "sudo ls"})
        assert result.is_error and text(result).startswith("Command blocked by safety guard"), result
        assert "\ninstead: " in text(result), result
        result = await client.call_tool("nothing", {})
        assert result.is_error and "there is no tool" in text(result), result
        step("refused")

        lines = []

        async def on_progress(progress, total, message):
            lines.append((progress, message))

        script = "for number in 1 2 3; do echo line $number; sleep 0.3; done"
        result = await client.call_tool("bash", {"script": script}, progress_callback=on_progress)
        assert text(result) == "line 1\nline 2\nline 3\n", result
        assert (lines[0][1], lines[-1][1]) == ("started", "EXTERNAL_UNTRUSTED: line 3"), lines
        assert [number for number, _ in lines] == sorted(number for number, _ in lines), lines
        step("progress")

        async with anyio.create_task_group() as group:

            async def cancel_at_first_line(progress, total, message):
                if message.endswith("begun"):
                    group.cancel_scope.cancel()

            group.start_soon(call_endless, client, cancel_at_first_line)
        result = await client.call_tool("exec", {"command": "echo next"})
        assert text(result) == "next\n", result
        step("cancelled")

        resources = await client.list_resources()
        assert "ccm://policy" in [str(resource.uri) for resource in resources.resources], resources
        read = await client.read_resource("ccm://types/file.mode")
        assert "mode" in read.contents[0].text, read
        step("resources")

        result = await client.call_tool("exec", {"command": "rm -rf build && echo removed"})
        assert not result.is_error, result
        assert result.structured_content["status"] == "approval_required", result
        intent = result.structured_content["intent"]
        waiting = await client.call_tool("resume", {"intent": intent})
        assert waiting.structured_content["status"] == "approval_required", waiting
        step(f"approve {result.structured_content['code']}")
        # Whoever started this program lets somebody approve, and says so.
        assert (await anyio.to_thread.run_sync(sys.stdin.readline)).strip() == "approved"
        result = await client.call_tool("resume", {"intent": intent})
        assert not result.is_error and text(result) == "removed\n", result
        again = await client.call_tool("resume", {"intent": intent})
        assert again.is_error and again.structured_content["status"] == "approval_ended", again
        step("resumed")

        result = await client.call_tool("exec", {"command": "rm -rf other"})
        intent = result.structured_content["intent"]
        result = await client.call_tool("cancel", {"intent": intent})
        assert result.structured_content["state"] == "withdrawn", result
        step("withdrawn")

    step("closed")


async def call_endless(client, on_progress):
    arguments = {"script": "echo begun; sleep 1000"}
    await client.call_tool("bash", arguments, progress_callback=on_progress)


anyio.run(main, sys.argv[1], sys.argv[2], sys.argv[3:])
