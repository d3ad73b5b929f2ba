import * as agentTokens from './account-agent-tokens.js';
import * as ownedAgents from './account-agents.js';
import * as ownership from './account-ownership.js';
import * as accounts from './accounts.js';
import * as email from './accounts-email.js';
import * as accountLimits from './accounts-limits.js';
import * as recovery from './accounts-recovery.js';
import * as security from './accounts-security.js';
import * as activity from './activity.js';
import * as adminTokens from './admin-tokens.js';
import * as users from './admin-users.js';
import * as agents from './agents.js';
import * as approvals from './approvals.js';
import * as audit from './audit.js';
import * as contacts from './contacts.js';
import * as directory from './directory.js';
import * as discovery from './discovery.js';
import * as emailSignIn from './email-sign-in.js';
import * as files from './files.js';
import * as humans from './humans.js';
import * as identities from './identities.js';
import * as invites from './invites.js';
import * as keys from './keys.js';
import * as mailbox from './mailbox.js';
import * as messages from './messages.js';
import * as monitoring from './monitoring.js';
import type { Operation } from './operation.js';
import * as profile from './profile.js';
import * as revisions from './revisions.js';
import * as rooms from './rooms.js';
import * as runtimeJobs from './runtime-jobs.js';
import * as runtimeNotes from './runtime-notes.js';
import * as runtimes from './runtimes.js';
import * as search from './search.js';
import * as signals from './signals.js';
import * as sockets from './sockets.js';
import * as taskLeases from './task-leases.js';
import * as tasks from './tasks.js';
import * as threads from './threads.js';
import * as webSessions from './web-sessions.js';

const operations = [
  discovery.getDiscovery,
  discovery.getOpenapi,
  discovery.getDocsOpenapi,
  discovery.getMessageSchema,
  discovery.getAgentGuide,
  discovery.getHome,
  discovery.getHomeStyle,
  discovery.getHealth,
  discovery.getReadiness,
  accounts.register,
  accounts.login,
  recovery.recover,
  email.requestRecoveryCode,
  accounts.getMe,
  security.getSecurity,
  security.changePassword,
  security.rotateRecoveryKey,
  security.revokeSessions,
  email.setRecoveryEmail,
  email.verifyRecoveryEmail,
  email.removeRecoveryEmail,
  accountLimits.getLimits,
  humans.humanLogin,
  humans.changeHumanPassword,
  humans.recoverHuman,
  emailSignIn.sendSignInCode,
  emailSignIn.signInByEmail,
  webSessions.openWebSession,
  webSessions.getWebSession,
  webSessions.closeWebSession,
  ownership.rotateAccountToken,
  ownership.createOwnershipCode,
  ownership.claimAgent,
  ownedAgents.listOwnedAgents,
  ownedAgents.createOwnedAgent,
  ownedAgents.updateOwnedAgent,
  ownedAgents.disableOwnedAgent,
  ownedAgents.enableOwnedAgent,
  agentTokens.listAgentTokens,
  agentTokens.issueAgentToken,
  agentTokens.revokeAgentToken,
  monitoring.getMonitoring,
  activity.listActivity,
  monitoring.getAgentActivity,
  monitoring.getAgentTask,
  monitoring.getAgentRuntime,
  users.listUsers,
  users.createUser,
  users.updateUser,
  adminTokens.listTokens,
  adminTokens.issueToken,
  adminTokens.revokeToken,
  audit.listAudit,
  profile.getProfile,
  profile.updateProfile,
  directory.listDirectory,
  identities.getIdentity,
  signals.getSignals,
  agents.listAgents,
  contacts.listContacts,
  contacts.requestContact,
  contacts.acceptContact,
  contacts.rejectContact,
  contacts.removeContact,
  contacts.blockContact,
  contacts.unblockContact,
  invites.createInvite,
  invites.listInvites,
  invites.revokeInvite,
  invites.redeemInvite,
  rooms.createRoom,
  rooms.listRooms,
  rooms.getRoom,
  rooms.openDm,
  rooms.listMembers,
  rooms.addMember,
  rooms.removeMember,
  rooms.leaveRoom,
  messages.sendDirect,
  messages.sendMessage,
  messages.listMessages,
  messages.getMessage,
  threads.getThread,
  search.searchMessages,
  revisions.reviseMessage,
  mailbox.readMailbox,
  mailbox.ackRoom,
  sockets.openSocket,
  files.uploadFile,
  files.downloadFile,
  files.getFile,
  keys.publishKey,
  keys.getIdentityKey,
  keys.listRoomKeys,
  tasks.createTask,
  tasks.listTasks,
  tasks.taskInbox,
  tasks.getTask,
  taskLeases.claimTask,
  taskLeases.updateTask,
  tasks.cancelTask,
  approvals.requestApproval,
  approvals.listApprovals,
  approvals.getApproval,
  approvals.decideApproval,
  runtimes.registerRuntime,
  runtimes.listRuntimes,
  runtimes.getRuntime,
  runtimes.configureRuntime,
  runtimes.getRuntimeLog,
  runtimes.getRuntimeStats,
  runtimeJobs.claimRuntimeJob,
  runtimeJobs.heartbeatRuntimeJob,
  runtimeJobs.finishRuntimeJob,
  runtimeNotes.listRuntimeNotes,
  runtimeNotes.writeRuntimeNote,
] as const;

/** Every call of the HTTP contract, in the order of the documentation. */
export const OPERATIONS: readonly Operation[] = operations;

/** The calls by id, with the types of what they take and answer. */
export type OperationMap = { [O in (typeof operations)[number] as O['id']]: O };
