import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { go } from '../route.js';

/** After the last stroke, the list follows. */
const patienceMs = 200;

/** Words that a list is searched for; `/` goes to it. */
export function SearchBox({
  label,
  value,
  onSearch,
}: {
  label: string;
  value: string;
  onSearch: (text: string) => void;
}): JSX.Element {
  const [text, setText] = useState(value);
  const timer = useRef<number | undefined>(undefined);
  // What is typed may end in a space, behind which the next word comes.
  useEffect(() => setText((before) => (before.trim() === value ? before : value)), [value]);
  useEffect(() => () => window.clearTimeout(timer.current), []);
  return (
    <input
      type="search"
      data-search
      class="filter"
      aria-label={label}
      placeholder={`${label}…`}
      value={text}
      onInput={({ currentTarget }) => {
        setText(currentTarget.value);
        window.clearTimeout(timer.current);
        timer.current = window.setTimeout(() => onSearch(currentTarget.value.trim()), patienceMs);
      }}
    />
  );
}

export function Choice({
  label,
  all,
  value,
  options,
  onChoose,
}: {
  label: string;
  /** What is said where nothing is chosen. */
  all: string;
  value: string;
  options: readonly (readonly [value: string, words: string])[];
  onChoose: (value: string) => void;
}): JSX.Element {
  const isKnown = value === '' || options.some(([each]) => each === value);
  return (
    <select
      aria-label={label}
      value={value}
      onChange={({ currentTarget }) => onChoose(currentTarget.value)}
    >
      <option value="">{all}</option>
      {!isKnown && <option value={value}>{value}</option>}
      {options.map(([each, words]) => (
        <option key={each} value={each}>
          {words}
        </option>
      ))}
    </select>
  );
}

/** A filter stands in the address, so that a link shows the same. */
export function changeQuery(
  query: URLSearchParams,
  changes: Readonly<Record<string, string>>,
): void {
  const next = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === '') next.delete(name);
    else next.set(name, value);
  }
  const search = next.toString();
  go(`${location.pathname}${search === '' ? '' : `?${search}`}`, { replace: true });
}
