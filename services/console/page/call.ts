import { signal } from '@preact/signals';
import type { Failure } from '../../../src/errors/bus-error.js';
import type { Calls } from './calls.js';
import { linkTo, treeOf } from './address.js';
import { here } from './route.js';

export interface Session {
  csrf: string;
  person: string;
  read_only: boolean;
  version: string;
  trees: string[];
}

/** Undefined: not asked yet. Null: not signed in. */
export const session = signal<Session | null | undefined>(undefined);

/** Why the link that was opened did not sign in. */
export const refusedLink = signal<Fault | undefined>(undefined);

/** What went wrong, as the server says it. */
export interface Fault extends Failure {
  next: string;
}

export class CallError extends Error {
  readonly fault: Fault;

  constructor(fault: Fault) {
    super(fault.text);
    this.fault = fault;
  }
}

export type CallName = keyof Calls;
export type InputOf<Name extends CallName> = Calls[Name]['input'];
export type ValueOf<Name extends CallName> = Calls[Name]['value'];

export interface Called<Name extends CallName> {
  value: ValueOf<Name>;
}

/** Of several trees the one that is asked about. */
export function treeAsked(): string | undefined {
  return treeOf(here.value) ?? session.value?.trees[0];
}

/** An operation by its name. `as`: in the name of this agent. Throws CallError; an abort is thrown as it came. */
export function call<Name extends CallName>(
  name: Name,
  input: InputOf<Name>,
  signal?: AbortSignal,
  { as }: { as?: string } = {},
): Promise<Called<Name>> {
  const path = linkTo('api', ['call', name], { tree: treeAsked(), as });
  return asked(path, { body: input, signal });
}

/** What else the server has: `/api/health`. */
export function look<T>(path: string, signal?: AbortSignal): Promise<T> {
  return asked(path, { signal });
}

/** With the token of the printed link, or the cookie of an earlier visit. */
export async function signIn(): Promise<void> {
  const token = new URLSearchParams(location.hash.slice(1)).get('token');
  if (token !== null) {
    history.replaceState(null, '', location.pathname + location.search);
    try {
      session.value = await asked<Session>('/api/login', { body: { token } });
      return;
    } catch (error) {
      refusedLink.value = faultOf(error);
    }
  }
  try {
    session.value = await asked<Session>('/api/session', {});
  } catch {
    session.value ??= null;
  }
}

export async function signOut(): Promise<void> {
  await asked('/api/logout', { body: {} }).catch(() => undefined);
  session.value = null;
}

const away: Fault = {
  code: 'CONSOLE_AWAY',
  text: 'The console does not answer.',
  retryable: true,
  next: 'Look whether `sigma console` still runs. The page tries again by itself.',
};

async function asked<T>(
  path: string,
  { body, signal: ended }: { body?: unknown; signal?: AbortSignal | undefined },
): Promise<T> {
  const init: RequestInit = { ...(ended !== undefined && { signal: ended }) };
  const csrf = session.value?.csrf ?? '';
  if (body !== undefined) {
    init.method = 'POST';
    init.headers = { 'content-type': 'application/json', 'x-sigma-csrf': csrf };
    init.body = JSON.stringify(body);
  }
  let answer: Response;
  try {
    answer = await fetch(path, init);
  } catch (error) {
    if (ended?.aborted === true) throw error;
    throw new CallError(away);
  }
  if (answer.status === 401) session.value = null;
  const told = (await answer.json().catch(() => ({}))) as { error?: Fault };
  if (answer.ok) return told as T;
  if (told.error?.code === 'CONSOLE_CSRF') {
    await signIn();
    // Another page of this browser signed in anew: its session is that of this page, too.
    if (session.value && session.value.csrf !== csrf) return asked(path, { body, signal: ended });
  }
  throw new CallError(told.error ?? { ...away, text: `The console answers ${answer.status}.` });
}

/** A fault of anything that was thrown. */
export function faultOf(error: unknown): Fault {
  if (error instanceof CallError) return error.fault;
  const text = error instanceof Error ? error.message : String(error);
  return { code: 'PAGE', text, retryable: false, next: 'Reload the page.' };
}
