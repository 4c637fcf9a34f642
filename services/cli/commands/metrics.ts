import type { Command } from 'commander';
import { Metrics } from '../../../src/observe/metrics.js';
import { withClient } from '../connect.js';
import { configOf, withCommon, type CommonOptions } from '../options.js';
import { print } from '../output.js';

export function addMetricsCommand(sigma: Command): void {
  withCommon(sigma.command('metrics'))
    .description('the running broker in the text format of Prometheus, asked over the bus')
    .action(async (options: CommonOptions) => {
      const status = await withClient(configOf(options), (client) => client.status());
      const text = await new Metrics({ status: () => status }).text();
      print({ json: options.json === true }, { metrics: text }, () => text);
    });
}
