/** What a key does, told apart from what is typed. `go`: to the page with this letter. */
export type Stroke =
  | { kind: 'search' }
  | { kind: 'help' }
  | { kind: 'go'; letter: string }
  | { kind: 'wait' }
  | { kind: 'none' };

/** Between `g` and the letter behind it. */
export const chordMs = 1_500;

export interface Pressed {
  key: string;
  isTyping: boolean;
  hasModifier: boolean;
}

/** `isChord`: the key before was `g`. */
export function strokeOf({ key, isTyping, hasModifier }: Pressed, isChord: boolean): Stroke {
  if (isTyping || hasModifier) return { kind: 'none' };
  if (isChord && /^[a-z]$/.test(key)) return { kind: 'go', letter: key };
  if (key === 'g') return { kind: 'wait' };
  if (key === '/') return { kind: 'search' };
  if (key === '?') return { kind: 'help' };
  return { kind: 'none' };
}
