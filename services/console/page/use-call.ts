import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import {
  call,
  faultOf,
  treeAsked,
  type CallName,
  type Fault,
  type InputOf,
  type ValueOf,
} from './call.js';
import { onChanged, type What } from './live.js';

export interface Loaded<Value> {
  /** Of the last answer, also while the next one is on its way. */
  value: Value | undefined;
  fault: Fault | undefined;
  isLoading: boolean;
  reload: () => void;
}

/**
 * Calls an operation now and whenever its input changes, or one of `on` does. Undefined as input: nothing is asked, and nothing is
 * shown of what was.
 */
export function useCall<Name extends CallName>(
  name: Name,
  input: InputOf<Name> | undefined,
  on: readonly What[] = [],
): Loaded<ValueOf<Name>> {
  const load = useCallback(
    (asked: InputOf<Name>, signal: AbortSignal) => call(name, asked, signal),
    [name],
  );
  const loaded = useLoad(input, load, on);
  return { ...loaded, value: loaded.value?.value };
}

/** The same of anything that is loaded. */
export function useLoad<Input, Value>(
  input: Input | undefined,
  load: (input: Input, signal: AbortSignal) => Promise<Value>,
  on: readonly What[] = [],
): Loaded<Value> {
  const key = input === undefined ? undefined : JSON.stringify([treeAsked() ?? '', input]);
  const [round, setRound] = useState(0);
  const [its, setIts] = useState<{ key?: string; value?: Value; fault?: Fault }>({});
  const [busy, setBusy] = useState<string | undefined>();
  const reload = useCallback(() => setRound((before) => before + 1), []);
  const latest = useRef({ input, load });
  latest.current = { input, load };
  const changes = on.join(' ');
  useEffect(() => {
    const ended = new AbortController();
    const { input: asked, load: asking } = latest.current;
    if (asked === undefined || key === undefined) {
      setIts({});
      setBusy(undefined);
      return undefined;
    }
    setBusy(key);
    asking(asked, ended.signal)
      .then((value) => ({ key, value }))
      .catch((error: unknown) => ({ key, fault: faultOf(error) }))
      .then((now) => {
        if (ended.signal.aborted) return;
        setBusy(undefined);
        // What was shown stays while the same cannot be asked again; the banner says why.
        setIts((before) =>
          'fault' in now && now.fault.retryable && before.key === key && before.value !== undefined
            ? { ...before, fault: now.fault }
            : now,
        );
      })
      .catch(() => undefined);
    return () => ended.abort();
  }, [key, round, load]);
  useEffect(
    () => (changes === '' ? undefined : onChanged(changes.split(' ') as What[], reload)),
    [changes, reload],
  );
  const isOwn = its.key === key;
  return {
    value: isOwn ? its.value : undefined,
    fault: isOwn ? its.fault : undefined,
    isLoading: key !== undefined && (busy !== undefined || !isOwn),
    reload,
  };
}
