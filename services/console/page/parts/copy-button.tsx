import type { JSX } from 'preact';
import { useState } from 'preact/hooks';

const shownMs = 1_500;

/** Says for a moment that it did. */
export function CopyButton({
  text,
  label = 'Copy',
}: {
  text: string;
  label?: string;
}): JSX.Element {
  const [said, setSaid] = useState('');
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setSaid('Copied');
    } catch {
      setSaid('The browser does not allow it');
    }
    window.setTimeout(() => setSaid(''), shownMs);
  };
  return (
    <button type="button" class="quiet" onClick={() => void copy()}>
      {said === '' ? label : said}
      <span role="status" class="unseen">
        {said}
      </span>
    </button>
  );
}
