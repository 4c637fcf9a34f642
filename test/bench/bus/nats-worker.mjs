import { connect } from '@nats-io/transport-node';
import { endWithParent } from './load.mjs';

const connection = await connect({ servers: process.argv[2] });
// A callback: the iterator of the same library is slower.
connection.subscribe('bench.echo', {
  callback: (_error, message) => message.respond(message.data),
});
await connection.flush();
endWithParent();
