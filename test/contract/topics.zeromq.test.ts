import { zeromqHarness } from '../support/networks.js';
import { topicsContract } from './topics.js';

topicsContract('zeromq', zeromqHarness);
