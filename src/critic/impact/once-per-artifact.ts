import { BoundedMap } from '../../base/bounded-map.js';
import type { Ground } from '../ground.js';
import type { ModeInput } from '../mode.js';

/** Artifacts of one ground. */
const keptMax = 4;

export type Asked = Pick<ModeInput, 'artifact' | 'signal'>;

/**
 * Answers a question about an artifact once: the modes of a review ask it one after the other. An answer that the signal
 * has cut, and one that failed, is not kept.
 */
export function oncePerArtifact<T>(
  answer: (asked: Asked, ground: Ground) => Promise<T>,
): (asked: Asked, ground: Ground) => Promise<T> {
  const grounds = new WeakMap<Ground, BoundedMap<string, T>>();
  return async (asked, ground) => {
    const { path, digest } = asked.artifact;
    const key = `${path}\0${digest}`;
    const kept = grounds.get(ground) ?? new BoundedMap<string, T>(keptMax);
    grounds.set(ground, kept);
    const known = kept.get(key);
    if (known !== undefined) return known;
    const made = await answer(asked, ground);
    if (!asked.signal.aborted) kept.set(key, made);
    return made;
  };
}
