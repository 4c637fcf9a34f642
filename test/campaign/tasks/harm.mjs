import { setTimeout as wait } from 'node:timers/promises';

const everyMs = [300, 1_500];
const restartMsMax = 1_200;

/**
 * Kills one of `victims` after the other at random moments, and starts each again a moment later. `before(n)` is awaited
 * before the n-th; `isSpared(name)` says who is left alone for now; `lost(child)` sees it before its output is forgotten.
 * Resolves with how many were killed of each kind; a kind is a name without its number.
 */
export async function harm(children, { kills, victims, below, before, isSpared, lost }) {
  const killed = {};
  for (let number = 0; number < kills;) {
    await wait(everyMs[0] + below(everyMs[1] - everyMs[0]));
    const name = victims[below(victims.length)];
    if (isSpared?.(name) || !children[name].isRunning) continue;
    await before?.(number);
    await children[name].kill();
    const kind = name.replace(/-\d+$/, '');
    killed[kind] = (killed[kind] ?? 0) + 1;
    await wait(below(restartMsMax));
    lost?.(children[name]);
    children[name].start();
    number += 1;
  }
  return killed;
}
