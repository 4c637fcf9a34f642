import { signal } from '@preact/signals';
import type { Sample } from '../samples.js';
import { session, signIn } from './call.js';

/** What the server says has changed. */
export type What = 'agents' | 'tasks' | 'gates' | 'mail' | 'prompts';

/** `away`: the console itself does not answer. */
export type BusState =
  | { state: 'unknown' }
  | { state: 'online' }
  | { state: 'offline'; code: string }
  | { state: 'away' };

export const bus = signal<BusState>({ state: 'unknown' });

const retryMs = 3_000;
const listeners = new Set<(what: readonly What[]) => void>();
const samplers = new Set<(sample: Sample) => void>();

/** Called when one of these has changed, and when the bus is back. Gives what ends it. */
export function onChanged(what: readonly What[], then: () => void): () => void {
  const listener = (changed: readonly What[]): void => {
    if (changed.some((each) => what.includes(each))) then();
  };
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Each sample of health, as it comes. Gives what ends it. */
export function onSample(then: (sample: Sample) => void): () => void {
  samplers.add(then);
  return () => samplers.delete(then);
}

const everything: readonly What[] = ['agents', 'tasks', 'gates', 'mail', 'prompts'];

/**
 * Stays connected through a restart of the console, while the page is in sight: a browser has six connections to one host, for all its
 * pages together. Gives what ends it.
 */
export function listen(): () => void {
  let source: EventSource | undefined;
  let again: number | undefined;
  /** Something may have changed unheard. */
  let isOld = false;
  const close = (): void => {
    source?.close();
    window.clearTimeout(again);
  };
  const open = (): void => {
    close();
    if (document.hidden) return;
    source = new EventSource('/api/live');
    source.addEventListener('bus', ({ data }: MessageEvent<string>) => {
      const its = JSON.parse(data) as { state: 'online' | 'offline'; code?: string };
      bus.value =
        its.state === 'online' ? { state: 'online' } : { state: 'offline', code: its.code ?? '' };
      if (its.state === 'online' && isOld) tell(everything);
      isOld = its.state !== 'online';
    });
    source.addEventListener('changed', ({ data }: MessageEvent<string>) => {
      tell((JSON.parse(data) as { what: What[] }).what);
    });
    source.addEventListener('sample', ({ data }: MessageEvent<string>) => {
      const sample = JSON.parse(data) as Sample;
      for (const each of samplers) each(sample);
    });
    source.addEventListener('error', () => {
      bus.value = { state: 'away' };
      isOld = true;
      // The browser tries again by itself, except where it was refused: then the session may be over.
      if (source?.readyState !== EventSource.CLOSED) return;
      again = window.setTimeout(() => void reopen(), retryMs);
    });
  };
  const reopen = async (): Promise<void> => {
    await signIn();
    if (session.value) open();
  };
  const seen = (): void => {
    isOld ||= document.hidden;
    if (document.hidden) close();
    else open();
  };
  document.addEventListener('visibilitychange', seen);
  open();
  return () => {
    document.removeEventListener('visibilitychange', seen);
    close();
  };
}

function tell(what: readonly What[]): void {
  for (const each of [...listeners]) each(what);
}
