import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Fault } from '../call.js';

/** Something shorter than this is not said to be loading: it would only flicker. */
const patienceMs = 250;

export function Loading({ what = 'Loading' }: { what?: string }): JSX.Element {
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    const timer = window.setTimeout(() => setLate(true), patienceMs);
    return () => window.clearTimeout(timer);
  }, []);
  return (
    <p role="status" class="loading">
      {isLate && `${what}…`}
    </p>
  );
}

/** Nothing is there yet: what it would be, and what makes one. */
export function Empty({
  title,
  children,
}: {
  title: string;
  children?: ComponentChildren;
}): JSX.Element {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children}
    </div>
  );
}

/** What went wrong, its code, and what to do next. */
export function ErrorBox({ fault, retry }: { fault: Fault; retry?: () => void }): JSX.Element {
  return (
    <div role="alert" class="error">
      <p>
        <code>{fault.code}</code> {fault.text}
      </p>
      {fault.next !== '' && <p>{fault.next}</p>}
      {retry !== undefined && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

/** What is loaded, or why it is not: `children` gets what there is. */
export function Loadable<Value>({
  loaded,
  children,
  what,
}: {
  loaded: {
    value: Value | undefined;
    fault: Fault | undefined;
    isLoading: boolean;
    reload: () => void;
  };
  children: (value: Value) => ComponentChildren;
  what?: string;
}): JSX.Element {
  const { value, fault, isLoading, reload } = loaded;
  return (
    <>
      {fault !== undefined && (
        <ErrorBox fault={fault} {...(fault.retryable && { retry: reload })} />
      )}
      {value !== undefined && children(value)}
      {value === undefined && isLoading && <Loading {...(what !== undefined && { what })} />}
    </>
  );
}
