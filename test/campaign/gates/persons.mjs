// Persons who see the gates and judge them: over the bus, and by the command line.
import { spawn } from 'node:child_process';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { attentionMessages } from '../../../dist/src/attention/messages.js';
import { taskService } from '../../../dist/src/task/requests/messages.js';
import { connectTo } from '../agent.mjs';

const sigma = path.resolve(import.meta.dirname, '../../../services/cli/sigma.mjs');
const deadlineMs = 5_000;
/** Said about a gate once and for all. */
const final = new Set(['GATE_JUDGED', 'NO_SUCH_GATE', 'GATE_CHANGED', 'GATE_NOT_YOURS', 'USAGE']);

/** Over the bus, under a name of their own. */
export class Person {
  static async of(home, name) {
    const person = new Person();
    person.name = name;
    person.client = connectTo(home, name, { role: 'client' });
    await person.client.ready({ withinMs: 30_000 });
    return person;
  }

  ask({ type, request, answer }, body, isIdempotent = true) {
    return this.client
      .request(`service:${taskService}`, type, request.encode(body), { deadlineMs, isIdempotent })
      .then((reply) => answer.decode(reply.body));
  }

  /** All pages. */
  async list(isAll) {
    const gates = [];
    for (let after = ''; ;) {
      const query = { session: '', is_all: isAll, after, limit: 100, wait_ms: 0 };
      const page = await this.ask(attentionMessages.gates, query);
      gates.push(...page.gates);
      after = page.gates.at(-1)?.id ?? '';
      if (!page.more || after === '') return gates;
    }
  }

  show(id) {
    return this.ask(attentionMessages.gate, { id });
  }

  once({ id, classification }, judgement, direction) {
    const { action } = classification.digest;
    return this.ask(attentionMessages.judge, { id, judgement, direction, action }, false);
  }

  isBy(name) {
    return name === this.name;
  }
}

/** By `sigma gate`. */
export class Terminal {
  constructor(home) {
    this.home = home;
    this.name = 'terminal';
  }

  async once({ id }, judgement, direction) {
    const more = judgement === 'modify' ? ['--direction', direction] : [];
    const child = spawn(process.execPath, [sigma, 'gate', judgement, id, '--json', ...more], {
      env: { ...process.env, SIGMA_HOME: this.home, SIGMA_BUS: '' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (each) => (said += each));
    const status = await new Promise((resolve) => child.once('exit', resolve));
    if (status === 0) return JSON.parse(said);
    const code = /\b[A-Z][A-Z_]{3,}\b/.exec(said)?.[0] ?? `exit ${status}`;
    throw Object.assign(new Error(said), { code });
  }

  /** Every run of it has a name of its own. */
  isBy(name) {
    return name.startsWith('cli');
  }
}

/**
 * Judges until there is an answer: a lost one is asked for again, as a person would. Resolves with `told`, whether it was
 * this judgement that counts, and the code of a refusal. `show`: of somebody who can look.
 */
export async function judge(person, gate, { judgement, direction = '', show }) {
  const lost = [];
  for (;;) {
    const said = await person.once(gate, judgement, direction).catch((error) => error);
    const { code = '', message = '' } = said instanceof Error ? said : {};
    if (!(said instanceof Error)) return { told: true, lost, code, message };
    if (!final.has(code)) {
      lost.push(code);
      await wait(300);
      continue;
    }
    const isAgain = code === 'GATE_JUDGED' && lost.length > 0;
    const now = isAgain ? await shownBy(show, gate.id) : undefined;
    const told = isAgain && person.isBy(now.judged_by) && now.judgement === judgement;
    return { told, lost, code, message };
  }
}

async function shownBy(show, id) {
  for (;;) {
    const gate = await show(id).catch((error) => error);
    if (!(gate instanceof Error)) return gate;
    if (final.has(gate.code)) throw gate;
    await wait(300);
  }
}
