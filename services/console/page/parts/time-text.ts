const units: readonly [ms: number, unit: Intl.RelativeTimeFormatUnit][] = [
  [86_400_000, 'day'],
  [3_600_000, 'hour'],
  [60_000, 'minute'],
  [1_000, 'second'],
];

const format = new Intl.RelativeTimeFormat('en', { numeric: 'always', style: 'narrow' });
/** Clocks differ a little, and what has just happened is now. */
const nowMs = 2_000;

/** "5 min ago", "in 3 h". */
export function relativeTime(at: number, now: number): string {
  const away = at - now;
  if (Math.abs(away) < nowMs) return 'now';
  const [size, unit] = units.find(([ms]) => Math.abs(away) >= ms) ?? [1_000, 'second'];
  return format.format(Math.trunc(away / size), unit);
}

/** "3 min 20 s", "840 ms". */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  const [size, big, small, smallSize] =
    ms < 3_600_000
      ? ([60_000, 'min', 's', 1_000] as const)
      : ms < 86_400_000
        ? ([3_600_000, 'h', 'min', 60_000] as const)
        : ([86_400_000, 'd', 'h', 3_600_000] as const);
  const rest = Math.floor((ms % size) / smallSize);
  return `${Math.floor(ms / size)} ${big}${rest === 0 ? '' : ` ${rest} ${small}`}`;
}
