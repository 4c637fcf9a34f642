import { effect, signal } from '@preact/signals';

const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

const stored = 'sigma-theme';

/** A setting that this browser remembers, where it may. */
export function remembered(name: string): string | undefined {
  try {
    return localStorage.getItem(name) ?? undefined;
  } catch {
    return undefined;
  }
}

export function remember(name: string, value: string): void {
  try {
    localStorage.setItem(name, value);
  } catch {
    // It holds for this visit.
  }
}

export const theme = signal<Theme>(themes.find((each) => each === remembered(stored)) ?? 'system');

const prefersDark = matchMedia('(prefers-color-scheme: dark)');
const isSystemDark = signal(prefersDark.matches);
prefersDark.addEventListener('change', ({ matches }) => (isSystemDark.value = matches));

/** For what draws with colours of its own: graphs and charts. */
export function isDark(): boolean {
  return theme.value === 'dark' || (theme.value === 'system' && isSystemDark.value);
}

/** A colour of style.css as it is now, for what draws on a canvas. */
export function colour(name: string): string {
  const probe = document.createElement('i');
  probe.style.color = `var(--${name})`;
  document.body.append(probe);
  const its = getComputedStyle(probe).color;
  probe.remove();
  return its;
}

effect(() => {
  document.documentElement.dataset['theme'] = theme.value;
});

export function nextTheme(): void {
  theme.value = themes[(themes.indexOf(theme.value) + 1) % themes.length] ?? 'system';
  remember(stored, theme.value);
}
