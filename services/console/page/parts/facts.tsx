import type { ComponentChildren, JSX } from 'preact';

/** What is known of one thing; what is empty is left out. */
export function Facts({
  rows,
}: {
  rows: readonly (readonly [name: string, value: ComponentChildren])[];
}): JSX.Element {
  return (
    <dl class="facts">
      {rows
        .filter(
          ([, value]) => value !== '' && value !== undefined && value !== null && value !== false,
        )
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

/** A few figures that say how things stand. */
export function Figures({
  rows,
}: {
  rows: readonly { name: string; value: ComponentChildren; note?: string; isBad?: boolean }[];
}): JSX.Element {
  return (
    <dl class="figures">
      {rows.map(({ name, value, note, isBad }) => (
        <div key={name} class={isBad === true ? 'is-bad' : ''}>
          <dt>{name}</dt>
          <dd>{value}</dd>
          {note !== undefined && note !== '' && <dd class="dim">{note}</dd>}
        </div>
      ))}
    </dl>
  );
}
