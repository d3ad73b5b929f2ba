export type { Lease } from './lease-rules.js';
export type { FinishHook, TaskApprovals } from './task-hooks.js';
export type { TaskRecord } from './task-record.js';
export { TasksModule } from './tasks.module.js';
export { TasksService } from './tasks.service.js';
