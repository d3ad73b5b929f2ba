export { RuntimesModule } from './runtimes.module.js';
