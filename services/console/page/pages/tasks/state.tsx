import type { JSX } from 'preact';
import { Badge } from '../../parts/badge.js';
import { standingOf, stateWords, toneOf } from './words.js';

export function State({ state }: { state: string }): JSX.Element {
  return <Badge tone={toneOf[standingOf(state)]}>{stateWords(state)}</Badge>;
}
