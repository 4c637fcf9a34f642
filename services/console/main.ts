import { systemClock } from '../../src/base/clock.js';
import type { Config } from '../../src/config/config.js';
import { asBusError, BusError } from '../../src/errors/bus-error.js';
import { openLog } from '../../src/observe/log.js';
import { askingOver } from '../../src/operations/asking.js';
import type { Standing } from '../../src/operations/standing.js';
import { agentOfPerson, personOf, remoteIdentity } from '../../src/remote/identity.js';
import { Bus } from '../bus.js';
import { examined } from '../checks.js';
import { untilStopped } from '../process.js';
import { pageFolder } from '../program.js';
import { siteOf } from '../site.js';
import { version } from '../version.js';
import { Calls } from './calls.js';
import { PageFiles } from './files.js';
import { ConsoleHttp, type ConsoleParts } from './http.js';
import { announced } from './link.js';
import { Live } from './live.js';
import { Samples } from './samples.js';
import { newSecret, Sessions } from './sessions.js';

const portUsual = 3919;
/** A page that begins does not wait longer to learn what can be asked about. */
const treesMsMax = 2_000;

export interface ConsoleOptions {
  /** Of several trees the one with it answers, unless a page names another. */
  folder: string;
  /** 0: any. Absent: that of the settings; else the usual one, or any where that is taken. */
  port?: number;
  isReadOnly: boolean;
}

/**
 * `sigma console`: what a person can ask and decide on the command line, in a browser. Ends at a signal. Throws
 * CONSOLE_NOT_BUILT, SERVER_ADDRESS, SERVER_CERTIFICATE, KEYS_MISSING, KEY_FILE_INVALID.
 */
export async function runConsole(config: Config, options: ConsoleOptions): Promise<void> {
  const files = PageFiles.of(pageFolder);
  if (files === undefined) throw new BusError('CONSOLE_NOT_BUILT');
  const { folder, isReadOnly } = options;
  const clock = systemClock;
  const { home, console: remotely } = config;
  const site = remotely && siteOf(remotely, home, clock);
  const port = options.port ?? remotely?.port;
  const log = openLog(config, { service: 'console' });
  const stopped = untilStopped();
  const remote = remoteIdentity(config);
  const person = personOf(config);
  const newBus = (role: Standing['role']): Bus =>
    new Bus({
      ...{ config, log, folder, as: undefined, role, reads: false, person },
      name: `console-${role}`,
    });
  await using bus = newBus('client');
  // An identity over a network is one agent: a second connection would end the first.
  await using operator = new Later(() => (remote === undefined ? newBus('operator') : bus));
  const self = (): string => agentOfPerson(config);
  const calls = new Calls({
    busOf: (role, from) => {
      const its = role === 'operator' ? operator.get() : bus;
      if (from === undefined) return its;
      return askingOver(() => its.client(), { home, folder: from });
    },
    ...{ self, person, isReadOnly, clock, log },
  });
  const checks = async () => (await examined(config, { asksModel: false })).checks;
  using samples = new Samples({ bus, home, clock, checks });
  using live = new Live({ bus, samples, clock });
  using sessions = new Sessions(clock);
  const greeting = async () => ({
    ...{ person: person || self(), read_only: isReadOnly, version },
    trees: await treesOf(bus),
  });
  const secret = newSecret();
  const parts = { site, files, sessions, calls, live, samples, secret, greeting, log };
  await using server = await opened(port, parts);
  using _running = announced(home, { origin: server.origin, secret, site });
  // A log is read by others: what lets a browser in is shown on a terminal alone.
  process.stdout.write(
    process.stdout.isTTY
      ? `console ${server.newLink()}\n  (once, within 10 minutes; \`sigma console --link\` makes another)\n`
      : `ready ${server.origin}\n\`sigma console --link\` prints a link that lets a browser in\n`,
  );
  await stopped;
}

/** Opened when it is first wanted. */
class Later implements AsyncDisposable {
  readonly #open: () => Bus;
  #bus: Bus | undefined;

  constructor(open: () => Bus) {
    this.#open = open;
  }

  get(): Bus {
    return (this.#bus ??= this.#open());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#bus?.[Symbol.asyncDispose]();
  }
}

async function opened(port: number | undefined, parts: ConsoleParts): Promise<ConsoleHttp> {
  try {
    return await ConsoleHttp.open(port ?? portUsual, parts);
  } catch (error) {
    if (port !== undefined || asBusError(error).code !== 'SERVER_ADDRESS') throw error;
    return ConsoleHttp.open(0, parts);
  }
}

async function treesOf(bus: Bus): Promise<string[]> {
  const request = { agents: [], paths: [], compares: false };
  const trees = await bus.states(request, { deadlineMs: treesMsMax }).catch(() => []);
  return trees.map(({ root }) => root);
}
