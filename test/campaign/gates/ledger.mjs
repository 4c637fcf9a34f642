/** Every gate that was ever shown to somebody, and what was wrong with what was shown of it later. */
export class Ledger {
  /** By id, as it was shown last. */
  gates = new Map();
  wrong = { vanished: new Set(), changed: new Set() };

  /** Announced, or in a list. Resolves to those that were not known. */
  note(shown) {
    const fresh = [];
    for (const gate of shown) {
      const known = this.gates.get(gate.id);
      if (known === undefined) fresh.push(gate);
      else if (!isSame(known, gate))
        this.wrong.changed.add(`${gate.id}: ${wordsOf(known)}, then ${wordsOf(gate)}`);
      this.gates.set(gate.id, gate);
    }
    return fresh;
  }

  /** A whole list that was asked for when these ids were known. */
  compare(known, shown) {
    const there = new Set(shown.map(({ id }) => id));
    for (const id of known) if (!there.has(id)) this.wrong.vanished.add(id);
    return this.note(shown);
  }
}

/** What a person saw stays: the action, and what was said about it once it was said. */
function isSame(before, now) {
  const [one, other] = [before, now].map(({ classification }) => classification.digest);
  if (one.action !== other.action || before.task !== now.task) return false;
  if (before.asked_ms !== now.asked_ms) return false;
  if (before.state === 'open') return true;
  return before.state === now.state && wordsOf(before) === wordsOf(now);
}

const wordsOf = ({ state, judgement, judged_by }) => `${state} ${judgement} ${judged_by}`;
