"""The matrix of docs/reference/calls.md as data: what happens in each cell, and the tests that show it.

A test is named as pytest names it; what stands in brackets is the case's name, without its further arguments. A cell
that says ``n/a`` is of something that the library does not have.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Cell:
    says: str
    tests: tuple[str, ...]


Table = dict[str, dict[str, Cell]]

COLUMNS = (
    *("plain", "async", "streamed", "redirect", "error answer", "connection failure", "SDK retry"),
    *("crash between parts", "concurrent"),
)
BAD_COLUMNS = ("200 MB", "endless", "bomb", "closes half-way", "length lies")

REPLAY = "test_a_replay_shows_what_the_live_call_showed"
EQUAL = "test_a_replay_gives_equal_objects"
SHARED = "test_cells_shared.py::test_twenty_bodies_over_one_client_each_keep_their_own_records"


def cell(says: str, *tests: str) -> Cell:
    return Cell(says, tests)


def cases(test: str, *names: str) -> list[str]:
    return [f"{test}[{name}]" for name in names]


NONE = cell("n/a")


def row(*cells: Cell) -> dict[str, Cell]:
    return dict(zip(COLUMNS, cells, strict=True))


def bad_row(*cells: Cell) -> dict[str, Cell]:
    return dict(zip(BAD_COLUMNS, cells, strict=True))


# ----------------------------------------------------------------------------------------------------------- libraries


def httpx_like(library: str, of_class: str) -> dict[str, Cell]:
    sync, coroutines = f"{of_class}::{EQUAL}", f"{of_class}::{EQUAL}_to_coroutines"
    return row(
        cell("equal", *cases(sync, "plain", "encodings", "bodies", "head", "cookies_are_sent")),
        cell("equal", *cases(coroutines, "plain_async", "twenty_by_a_helper")),
        cell("equal ¹", *cases(sync, "streamed", "streamed_raw", "sent_as_stream"), f"{coroutines}[streamed_async]"),
        cell("equal, parts ²", *cases(sync, "redirected", "not_followed"), f"{coroutines}[redirected_async]"),
        cell("equal", *cases(sync, "error_answer", "server_error"), f"{coroutines}[error_answer_async]"),
        cell(
            "equal",
            *cases(sync, "refused", "dropped", "nonsense", "timed_out", "cut", "cut_in_a_stream"),
            *cases(coroutines, "failures_async", "cut_in_a_stream_async"),
        ),
        cell(
            "in one part ³",
            f"{sync}[transports_below]",
            f"test_cells_httpx.py::test_the_tries_of_a_transport_are_one_part[{library}]",
        ),
        cell("only the rest", f"{of_class}::test_killed_between_two_exchanges_only_the_rest_is_asked_for"),
        cell(
            "each its own",
            f"{of_class}::test_twenty_calls_in_one_body_each_keep_their_own_answer",
            f"{of_class}::test_twenty_bodies_over_one_client_each_keep_their_own_records",
        ),
    )


_REQUESTS = f"test_capture_requests.py::{REPLAY}"
_URLLIB3, _URLLIB3_CELLS = f"test_capture_urllib3.py::{REPLAY}", f"test_cells_urllib3.py::{REPLAY}"
_URLLIB, _URLLIB_CELLS = f"test_capture_urllib.py::{REPLAY}", f"test_cells_urllib.py::{REPLAY}"
_AIOHTTP, _AIOHTTP_CELLS = f"test_capture_aiohttp.py::{REPLAY}", f"test_cells_aiohttp.py::{REPLAY}"
_SMTP, _AIOSMTP = f"test_capture_smtplib.py::{REPLAY}", f"test_capture_aiosmtplib.py::{REPLAY}"
_TRIES = "test_after_a_crash_between_two_tries_only_the_rest_is_asked_for"

LIBRARIES: Table = {
    "httpx": httpx_like("httpx", "test_capture_httpx.py::TestHttpx"),
    "httpx2": httpx_like("httpx2", "test_capture_httpx2.py::TestHttpx2"),
    "requests": row(
        cell("equal", *cases(_REQUESTS, "plain", "kinds", "sent", "head", "cookies")),
        cell(
            "equal ⁴",
            "test_capture_requests.py::test_a_call_that_is_handed_to_a_thread_has_its_record_whatever_the_request_now_says",
        ),
        cell("equal ¹", *cases(_REQUESTS, "streamed", "read_in_pieces", "decoded_in_pieces")),
        cell("equal, parts ²", *cases(_REQUESTS, "redirected", "too_many_redirects")),
        cell("equal", *cases(_REQUESTS, "kinds")),
        cell(
            "equal",
            *cases(_REQUESTS, "late", "broken", "broken_in_a_stream", "stalled"),
            "test_capture_requests.py::test_a_call_that_fails_fails_equally_on_a_replay",
        ),
        cell("equal, parts ²", *cases(_REQUESTS, "retried", "retried_after_a_failure", "retried_in_vain")),
        cell(
            "only the rest", "test_capture_requests.py::test_after_a_crash_between_two_parts_only_the_rest_is_asked_for"
        ),
        cell(
            "each its own",
            f"{_REQUESTS}[twenty_at_once]",
            "test_capture_requests.py::test_twenty_bodies_over_one_session_each_keep_their_own_answers",
        ),
    ),
    "urllib3": row(
        cell("equal", f"{_URLLIB3}[by_urllib3]"),
        NONE,
        cell("equal ¹", f"{_URLLIB3}[by_urllib3_in_pieces]"),
        cell("equal, parts ²", f"{_URLLIB3_CELLS}[redirected]"),
        cell("equal", f"{_URLLIB3_CELLS}[error_answers]"),
        cell("equal", *cases(_URLLIB3_CELLS, "refused", "broken_off")),
        cell(
            "equal, parts ²",
            f"{_URLLIB3}[by_urllib3]",
            "test_capture_urllib3.py::test_each_try_is_a_part_and_the_failure_at_the_end_is_the_same",
        ),
        cell("only the rest", f"test_cells_urllib3.py::{_TRIES}"),
        cell("each its own", f"{_URLLIB3_CELLS}[twenty_at_once]", f"{SHARED}[urllib3]"),
    ),
    "urllib.request, http.client": row(
        cell("equal", *cases(_URLLIB, "plain", "posted", "shapes", "head", "direct", "remote_call")),
        NONE,
        cell("equal ¹", f"{_URLLIB}[streamed]"),
        cell("equal, parts ²", f"{_URLLIB}[redirected]"),
        cell("equal", f"{_URLLIB}[error_answer]"),
        cell("equal", *cases(_URLLIB, "refused", "timed_out", "no_answer", "broken_off", "refused_directly")),
        cell("equal, parts ²", *cases(_URLLIB_CELLS, "remote_call", "retried")),
        cell(
            "only the rest",
            "test_capture_urllib.py::test_after_a_crash_between_parts_only_the_rest_is_asked",
            f"test_cells_urllib.py::{_TRIES}",
        ),
        cell(
            "each its own",
            f"{_URLLIB}[concurrently]",
            f"{SHARED}[urllib]",
            "test_capture_urllib.py::test_a_connection_is_shared_by_a_body_and_other_code",
        ),
    ),
    "aiohttp": row(
        cell("equal", *cases(_AIOHTTP, "plain", "bodies", "shapes", "head", "by_function")),
        cell("equal", *cases(_AIOHTTP, "awaited", "begun_here_and_awaited_there")),
        cell("equal ¹", f"{_AIOHTTP}[streamed]"),
        cell("equal, parts ²", *cases(_AIOHTTP, "redirected", "posted_and_redirected", "too_many_redirects")),
        cell("equal", *cases(_AIOHTTP, "error_answers", "wrong_type")),
        cell("equal ⁵", *cases(_AIOHTTP, "refused", "no_answer", "broken_off", "timed_out")),
        cell("equal, parts ²", *cases(_AIOHTTP, "through_middlewares"), f"{_AIOHTTP_CELLS}[retried]"),
        cell(
            "only the rest",
            "test_capture_aiohttp.py::test_after_a_crash_between_parts_only_the_rest_is_asked",
            f"test_cells_aiohttp.py::{_TRIES}",
        ),
        cell("each its own", *cases(_AIOHTTP, "concurrently", "gathered"), f"{SHARED}[aiohttp]"),
    ),
    "smtplib": row(
        cell("equal ⁶", *cases(_SMTP, "plain", "by_hand", "many_over_one")),
        NONE,
        NONE,
        NONE,
        cell("equal", *cases(_SMTP, "refusals", "wrong_password")),
        cell("equal", *cases(_SMTP, "no_server", "unknown_host")),
        NONE,
        cell("only the rest", "test_capture_smtplib.py::test_after_a_crash_between_messages_only_the_rest_is_sent"),
        cell("each its own ⁷", f"{_SMTP}[concurrently]", f"{SHARED}[smtplib]"),
    ),
    "aiosmtplib": row(
        cell("equal ⁶", *cases(_AIOSMTP, "plain", "raw", "by_hand")),
        cell("equal ⁶", *cases(_AIOSMTP, "in_a_block", "concurrently_over_one")),
        NONE,
        NONE,
        cell("equal", *cases(_AIOSMTP, "refusals", "wrong_password")),
        cell("equal", *cases(_AIOSMTP, "no_server")),
        NONE,
        cell("only the rest", "test_capture_aiosmtplib.py::test_after_a_crash_between_messages_only_the_rest_is_sent"),
        cell("each its own", *cases(_AIOSMTP, "concurrently", "concurrently_over_one"), f"{SHARED}[aiosmtplib]"),
    ),
}

# ---------------------------------------------------------------------------------------------------------------- SDKs

_OPENAI, _OPENAI_ASYNC = f"test_capture_openai.py::{EQUAL}", f"test_capture_openai.py::{EQUAL}_to_coroutines"
_CLAUDE, _CLAUDE_ASYNC = f"test_capture_anthropic.py::{EQUAL}", f"test_capture_anthropic.py::{EQUAL}_to_coroutines"
_LLM, _LLM_ASYNC = f"test_cells_llm.py::{EQUAL}", f"test_cells_llm.py::{EQUAL}_to_coroutines"
_STRIPE, _STRIPE_CELLS = f"test_capture_stripe.py::{REPLAY}", f"test_cells_stripe.py::{REPLAY}"
_BOTO3, _BOTO3_CELLS = f"test_capture_boto3.py::{REPLAY}", f"test_cells_boto3.py::{REPLAY}"
_OF_SDK = "test_killed_between_the_tries_of_the_sdk_only_the_rest_is_asked_for"
_HOPS = "test_each_hop_of_a_redirect_is_a_part_of_the_call"

SDKS: Table = {
    "OpenAI": row(
        cell("equal", *cases(_OPENAI, "chat", "chat_parsed", "tool_calls", "responses", "raw_response", "azure")),
        cell("equal", *cases(_OPENAI_ASYNC, "chat_async", "jobs_paged_async")),
        cell(
            "equal ¹",
            *cases(_OPENAI, "chat_streamed", "chat_stream_helper", "responses_streamed", "streaming_response"),
            *cases(_OPENAI_ASYNC, "chat_streamed_async", "chat_stream_helper_async"),
        ),
        cell("equal, parts ²", f"{_LLM}[gpt_redirected]", f"test_cells_llm.py::{_HOPS}"),
        cell("equal", *cases(_OPENAI, "bad_request", "unauthorized"), f"{_LLM_ASYNC}[gpt_failures_async]"),
        cell("equal", *cases(_OPENAI, "unreachable", "stream_cut"), f"{_LLM_ASYNC}[gpt_failures_async]"),
        cell(
            "equal, parts ²",
            *cases(_OPENAI, "retried_429", "retried_500", "retried_connection", "retries_exhausted"),
            f"{_OPENAI_ASYNC}[retried_async]",
        ),
        cell("only the rest", f"test_capture_openai.py::{_OF_SDK}"),
        cell("each its own", f"{_OPENAI_ASYNC}[twenty_chats]", *cases(SHARED, "openai", "openai_async")),
    ),
    "Anthropic": row(
        cell("equal", *cases(_CLAUDE, "message", "message_parsed", "tool_use", "message_raw", "claude_models")),
        cell("equal", *cases(_CLAUDE_ASYNC, "message_async")),
        cell(
            "equal ¹",
            *cases(_CLAUDE, "message_streamed", "message_stream_helper"),
            f"{_CLAUDE_ASYNC}[message_stream_async]",
        ),
        cell("equal, parts ²", f"{_LLM}[claude_redirected]", f"test_cells_llm.py::{_HOPS}"),
        cell("equal", f"{_CLAUDE}[message_refused]", f"{_LLM_ASYNC}[claude_failures_async]"),
        cell(
            "equal",
            f"{_CLAUDE}[message_unreachable]",
            f"{_LLM}[claude_cut_in_a_stream]",
            f"{_LLM_ASYNC}[claude_failures_async]",
        ),
        cell(
            "equal, parts ²",
            *cases(_CLAUDE, "message_retried", "message_overloaded", "message_exhausted"),
            f"{_CLAUDE_ASYNC}[message_retried_async]",
        ),
        cell("only the rest", f"test_capture_anthropic.py::{_OF_SDK}"),
        cell("each its own", f"{_CLAUDE_ASYNC}[twenty_messages]", *cases(SHARED, "anthropic", "anthropic_async")),
    ),
    "Stripe": row(
        cell("equal", *cases(_STRIPE, "charged", "listed", "by_a_client")),
        cell("equal", f"{_STRIPE_CELLS}[in_coroutines]"),
        cell("equal ¹", f"{_STRIPE}[downloaded]"),
        cell("equal, parts ²", f"test_cells_stripe.py::{_HOPS}"),
        cell("equal", *cases(_STRIPE, "declined", "missing"), f"{_STRIPE_CELLS}[in_coroutines]"),
        cell(
            "equal",
            "test_capture_stripe.py::test_a_server_that_cannot_be_reached_is_stripe_s_own_error",
            "test_cells_stripe.py::test_a_server_that_cannot_be_reached_is_the_same_error_to_a_coroutine",
        ),
        cell(
            "equal, parts ²",
            "test_capture_stripe.py::test_the_retries_of_the_sdk_are_parts_of_one_call",
            f"{_STRIPE_CELLS}[retried_in_a_coroutine]",
        ),
        cell(
            "only the rest",
            f"test_capture_stripe.py::{_TRIES}",
            "test_cells_stripe.py::test_after_a_crash_between_two_tries_of_a_coroutine_only_the_rest_is_asked_for",
        ),
        cell(
            "each its own",
            f"{_STRIPE}[twenty_at_once]",
            f"{_STRIPE_CELLS}[twenty_coroutines]",
            f"{SHARED}[stripe]",
        ),
    ),
    "boto3, botocore: S3, SQS, DynamoDB": row(
        cell("equal ⁸", *cases(_BOTO3, "put_and_get", "queue", "table", "resources", "pages", "waited")),
        NONE,
        cell("equal ¹", f"{_BOTO3}[streamed]"),
        cell(
            "equal, parts ²",
            f"{_BOTO3_CELLS}[moved]",
            "test_cells_boto3.py::test_a_redirect_to_another_region_is_a_part_of_the_call",
        ),
        cell("equal", *cases(_BOTO3, "missing", "table")),
        cell(
            "equal",
            "test_capture_boto3.py::test_a_connection_that_fails_raises_botocore_s_own_error",
            f"{_BOTO3_CELLS}[refused]",
        ),
        cell("equal, parts ²", "test_capture_boto3.py::test_the_tries_of_botocore_are_parts_of_one_call"),
        cell(
            "only the rest",
            "test_capture_boto3.py::test_after_a_crash_only_the_parts_that_are_missing_are_uploaded",
            f"test_cells_boto3.py::{_TRIES}",
        ),
        cell(
            "each its own",
            f"{_BOTO3}[twenty_at_once]",
            "test_capture_boto3.py::test_parts_that_are_uploaded_on_threads_belong_to_the_call",
            f"{SHARED}[boto3]",
        ),
    ),
}

MATRIX: Table = {**LIBRARIES, **SDKS}
