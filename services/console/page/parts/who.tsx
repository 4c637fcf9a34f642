import type { JSX } from 'preact';
import { linkTo } from '../address.js';

/** A command line that is gone has no page, and a name that says nothing. */
export function isPassing(agent: string): boolean {
  return /^cli-\d+-[0-9a-f]+$/.test(agent);
}

export function whoText(agent: string): string {
  return isPassing(agent) ? 'a command line' : agent;
}

/** An agent, with the way to its page. */
export function Who({ agent }: { agent: string }): JSX.Element {
  if (agent === '') return <span class="dim">–</span>;
  if (isPassing(agent)) return <span title={agent}>a command line</span>;
  return <a href={linkTo('agents', [agent])}>{agent}</a>;
}
