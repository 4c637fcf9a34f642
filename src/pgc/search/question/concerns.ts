import type { OverlayName } from '../../shapes.js';

/**
 * Overlays that a question asks for by its words, beyond symbols and calls: how to run something is not written
 * in a function. One question may have several concerns, most have none.
 */
const concerns: readonly (readonly [OverlayName, RegExp])[] = [
  [
    'O2',
    /\b(?:secur\w{0,4}|vulnerab\w{0,6}|exploit\w{0,5}|attack\w{0,4}|privileges?|privileged|saniti[sz]\w{0,5}|inject(?:ed|ion|ions)?|overflows?|unsafe|secrets?|credentials?|untrusted|malicious|user (?:memory|space)|CWE|CVE|entry points?|ioctls?|syscalls?|system calls?)\b/i,
  ],
  [
    'O3',
    /\b(?:who (?:wrote|changed|added|last|touched|works?)|when (?:was|did)\b.{0,60}\b(?:changed|added|written|touched)|last (?:change|commit|touched)|commits?|committed|authors?|git history|changed? together|co-?changes?)\b/i,
  ],
  [
    'O4',
    /^\s*why\b|\b(?:purpose|goals?|mission|motivation|rationale|design(?:ed)?|decision|overview|architecture|principles?|trade-?offs?|maintain(?:s|er|ers)|responsible|supposed to|meant (?:for|to)|guarantees?|documentation|documented|explained?)\b/i,
  ],
  [
    'O5',
    /\bhow (?:do|can|should|would|to)\b.{0,20}\b(?:i|we|you|one|someone)?\b.{0,20}\b(?:build|built|compile|install|run|start|stop|configure|set|enable|disable|turn|switch|test|deploy|use|debug|upgrade|back ?up|restore|change)\b|\b(?:environment variables?|config(?:uration|ured?|urable)?|settings?|options?|flags?|command(?:s|[- ]line)?|parameters?|knobs?|scripts?|kconfig|makefile|install(?:ation|ed)?|deploy(?:ment|ed)?|containers?|docker\w{0,7}|systemd|units?|services?|ci|pipeline|boot|sysctls?|default values?)\b|\bCONFIG_\w/i,
  ],
  [
    'O6',
    /\b(?:invariants?|assert(?:s|ed|ion|ions)?|locks? (?:must|held|is held)|which locks?|(?:must|should|needs? to) (?:be )?(?:hold|held|called|never)|holding|preconditions?|postconditions?|complexity|limits?|limited|maximum|at most|bounds?|bounded|upper|proofs?|theorems?|assum(?:e|es|ed|ption|ptions))\b/i,
  ],
  [
    'O7',
    /\b(?:undocumented|without (?:documentation|docs?|comments?)|lacks? (?:documentation|docs?)|missing (?:documentation|docs?)|contradict\w{0,5}|inconsisten\w{0,4}|out of date|outdated|stale (?:doc|comment)\w{0,10}|does not exist|coheren(?:t|ce))\b/i,
  ],
];

export function concernsOf(text: string): ReadonlySet<OverlayName> {
  return new Set(concerns.filter(([, pattern]) => pattern.test(text)).map(([name]) => name));
}
