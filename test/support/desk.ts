import path from 'node:path';
import { systemClock } from '../../src/base/clock.js';
import { Client } from '../../src/client/client.js';
import { readSecret } from '../../src/config/keys.js';
import { delegationMessages } from '../../src/delegation/task/messages.js';
import { readTask } from '../../src/delegation/task/schema.js';
import type { Assignment, DelegatedTask, TaskResponse } from '../../src/delegation/task/shapes.js';
import { withStrategy } from '../../src/delegation/manager/strategy.js';
import { BusError } from '../../src/errors/bus-error.js';
import { ZeromqLink } from '../../src/transport/zeromq.js';
import { eventually } from './eventually.js';

/** A scripted manager: the test sets the leases and reads the responses. */
export class Desk implements AsyncDisposable {
  readonly responses: TaskResponse[] = [];
  /** What else it was sent. */
  readonly notices: string[] = [];
  readonly claims: string[] = [];
  readonly signs: string[] = [];
  /** Each `task/attempt` that has ended: claims and progress for it are refused. */
  readonly over = new Set<string>();
  leaseMs = 2_000;
  /** Called before a claim is answered. */
  onClaim: (claim: string) => void = () => undefined;

  private constructor(readonly client: Client) {}

  /** The key of `role` is read from the home. */
  static async open(home: string, agent = 'desk', role = 'manager'): Promise<Desk> {
    const client = Client.connect({
      link: new ZeromqLink(`ipc://${path.join(home, 'run/bus.sock')}`),
      identity: { agent, role, isEphemeral: false },
      secretOf: () => readSecret(home, role),
      clock: systemClock,
      random: Math.random,
    });
    await client.ready({ withinMs: 20_000 });
    const desk = new Desk(client);
    await client.register({
      ...{ alias: agent, model: '', project: '', scope: [], overlays: {} },
      ...{ capabilities: [], protocol_versions: [] },
    });
    const { claim, progress, lease, response } = delegationMessages;
    const granted = (task: string, attempt: number): Buffer => {
      if (desk.over.has(`${task}/${attempt}`))
        throw new BusError('STALE_ATTEMPT', { task, attempt, now: attempt + 1 });
      return lease.encode({ lease_ms: desk.leaseMs });
    };
    client.serve({
      [claim.type]: ({ body }) => {
        const { task_id, attempt } = claim.codec.decode(body);
        desk.claims.push(`${task_id}/${attempt}`);
        desk.onClaim(`${task_id}/${attempt}`);
        return granted(task_id, attempt);
      },
      [progress.type]: ({ body }) => {
        const { task_id, attempt, summary } = progress.codec.decode(body);
        desk.signs.push(`${task_id}/${attempt}: ${summary}`);
        return granted(task_id, attempt);
      },
    });
    await client.receive(({ type, body }) => {
      if (type === response.type) desk.responses.push(response.codec.decode(body));
      else desk.notices.push(`${type} ${body.toString()}`);
    });
    return desk;
  }

  async assign(
    task: Record<string, unknown>,
    {
      attempt = 1,
      depth = 0,
      change = {},
    }: { attempt?: number; depth?: number; change?: Partial<DelegatedTask> } = {},
  ): Promise<void> {
    const whole = { ...withStrategy(readTask(task, 'unnamed')), ...change };
    await this.post({
      task: whole,
      ...{ attempt, lease_ms: this.leaseMs, until_ms: Date.now() + 300_000 },
      manager: this.client.identity.agent,
      ...{ grants: [], depth, parent: 'me' },
    });
  }

  async post(assignment: Assignment): Promise<void> {
    const { type, codec } = delegationMessages.assign;
    await this.client.post('agent:executor', type, codec.encode(assignment));
  }

  async withdraw(task_id: string, attempt = 1): Promise<void> {
    const { type, codec } = delegationMessages.withdraw;
    const body = codec.encode({ task_id, attempt, reason: 'CANCELLED' });
    await this.client.post('agent:executor', type, body);
  }

  /** The one response to a task. */
  async response(task: string, withinMs = 25_000): Promise<TaskResponse> {
    let found: TaskResponse | undefined;
    await eventually(() => {
      found = this.responses.find(({ task_id }) => task_id === task);
      if (found === undefined) throw new Error(`no response to ${task}`);
    }, withinMs);
    return found!;
  }

  /** Assigns a task and waits for its response. */
  async done(task: Record<string, unknown> & { id: string }): Promise<TaskResponse> {
    await this.assign(task);
    return this.response(task.id);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.client.close();
  }
}
