import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { faultOf, type Fault } from '../call.js';
import { ErrorBox } from './states.js';

/** Over the page; Escape closes it, and the focus goes back to where it was. */
export function Dialog({
  title,
  isHeld = false,
  onClose,
  children,
}: {
  title: string;
  /** It stays: what it began is not over. */
  isHeld?: boolean;
  onClose: () => void;
  children: ComponentChildren;
}): JSX.Element {
  const its = useRef<HTMLDialogElement>(null);
  /** Text that is selected beyond the edge closes nothing. */
  const isPressedOutside = useRef(false);
  const name = useId();
  useEffect(() => {
    const before = document.activeElement;
    its.current?.showModal();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={its}
      aria-labelledby={name}
      onClose={onClose}
      onCancel={(event) => isHeld && event.preventDefault()}
      onMouseDown={({ target }) => (isPressedOutside.current = target === its.current)}
      onClick={({ target }) =>
        target === its.current && isPressedOutside.current && !isHeld && its.current?.close()
      }
    >
      <div class="dialog">
        <header>
          <h2 id={name}>{title}</h2>
          <button
            type="button"
            class="quiet"
            aria-label="Close"
            disabled={isHeld}
            onClick={() => its.current?.close()}
          >
            ✕
          </button>
        </header>
        {children}
      </div>
    </dialog>
  );
}

/**
 * Asks before something is done that cannot be taken back. It says exactly what, in `children`; while it is done the button waits,
 * and what fails is shown here. A field of it that is `required` or not valid is said by the browser, and nothing is done.
 */
export function Confirm({
  title,
  children,
  action,
  isDanger = false,
  run,
  onClose,
}: {
  title: string;
  children: ComponentChildren;
  /** What the button says: "Purge 3 letters". */
  action: string;
  isDanger?: boolean;
  run: () => Promise<unknown>;
  onClose: () => void;
}): JSX.Element {
  const [isBusy, setBusy] = useState(false);
  const [fault, setFault] = useState<Fault | undefined>();
  const act = async (): Promise<void> => {
    setBusy(true);
    setFault(undefined);
    try {
      await run();
      onClose();
    } catch (error) {
      setFault(faultOf(error));
      setBusy(false);
    }
  };
  return (
    <Dialog title={title} isHeld={isBusy} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (!isBusy) void act();
        }}
      >
        <div class="confirm">{children}</div>
        {fault !== undefined && <ErrorBox fault={fault} />}
        <footer>
          <button type="button" disabled={isBusy} onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class={isDanger ? 'danger' : 'primary'} disabled={isBusy}>
            {isBusy ? 'One moment…' : action}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
