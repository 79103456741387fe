"""The commands, and what the shell is told at the end.

Exit codes: 0 done, 1 refused, 2 called in a wrong way, 3 no valid credential, 4 not found, 5 no
answer or too busy, 130 interrupted.
"""

from __future__ import annotations

import click

import tillgate

from . import listening, logs, mcp, payments, signing_in, triggering
from .session import NotSignedIn, Session

REFUSED = 1
NO_CREDENTIAL = 3
NOT_FOUND = 4
NO_ANSWER = 5
INTERRUPTED = 130


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(tillgate.__version__, package_name="tillgate")
@click.option("--profile", envvar="TILLGATE_PROFILE", help="The saved credential to use.")
@click.option(
    "--api-key",
    envvar="TILLGATE_API_KEY",
    help="Instead of a profile. In CI set TILLGATE_API_KEY: other programs see what is typed here.",
)
@click.option("--url", envvar="TILLGATE_URL", help="Where the service is.")
@click.pass_context
def cli(context: click.Context, profile: str | None, api_key: str | None, url: str | None) -> None:
    """Work with Tillgate from a terminal: try payments, follow webhooks, read the request log."""
    context.obj = Session(profile=profile, api_key=api_key, url=url)


@cli.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script of a shell.

    \b
    bash: tillgate completion bash > ~/.local/share/bash-completion/completions/tillgate
    zsh:  tillgate completion zsh > "${fpath[1]}/_tillgate"
    fish: tillgate completion fish > ~/.config/fish/completions/tillgate.fish
    """
    from click.shell_completion import get_completion_class

    made = get_completion_class(shell)
    if made is None:
        raise click.ClickException(f"There is no completion for {shell}")
    click.echo(made(cli, {}, "tillgate", "_TILLGATE_COMPLETE").source())


for one in (
    signing_in.login,
    signing_in.logout,
    signing_in.status,
    listening.listen,
    triggering.trigger,
    logs.logs,
    payments.pay,
    payments.payments,
    payments.open_page,
    mcp.mcp,
):
    cli.add_command(one)


def run(arguments: list[str] | None = None) -> int:
    try:
        code = cli.main(arguments, prog_name="tillgate", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except click.ClickException as refusal:
        refusal.show()
        return refusal.exit_code
    except click.Abort:
        click.echo(err=True)
        return INTERRUPTED
    except NotSignedIn as refusal:
        return _told(str(refusal), NO_CREDENTIAL)
    except ValueError as refusal:  # an address or an id that can't be one
        return _told(str(refusal), REFUSED)
    except tillgate.Error as refusal:
        where = f" (request {refusal.request_id})" if refusal.request_id else ""
        return _told(f"{refusal}{where}", _code_of(refusal))


def _told(message: str, code: int) -> int:
    from .output import plain

    click.echo(f"Error: {plain(message)}", err=True)
    return code


def _code_of(refusal: tillgate.Error) -> int:
    if isinstance(refusal, tillgate.AuthenticationError):
        return NO_CREDENTIAL
    if isinstance(refusal, tillgate.NotFoundError):
        return NOT_FOUND
    busy = (tillgate.ConnectionFailed, tillgate.Unavailable, tillgate.RateLimitError)
    return NO_ANSWER if isinstance(refusal, busy) else REFUSED
