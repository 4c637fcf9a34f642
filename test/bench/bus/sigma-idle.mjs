// Agents that are connected and do nothing.
//
//     sigma-idle.mjs ADDRESS COUNT CROWD
import { serveSwitch } from './load.mjs';
import { openClient } from './sigma-client.mjs';

/** A greeting that waits for a thousand others is repeated, which makes it wait longer. */
const atOnce = 50;

const [address, count, crowd] = process.argv.slice(2);
for (let opened = 0; opened < Number(count); opened += atOnce)
  await Promise.all(
    Array.from({ length: atOnce }, (_, at) =>
      openClient(address, `bench-idle-${crowd}-${opened + at}`),
    ),
  );
serveSwitch({ on: () => undefined, off: () => undefined });
