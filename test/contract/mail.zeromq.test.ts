import { zeromqHarness } from '../support/networks.js';
import { mailContract } from './mail.js';

mailContract('zeromq', zeromqHarness);
