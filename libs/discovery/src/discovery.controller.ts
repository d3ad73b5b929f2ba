import { Controller, Header, Inject } from '@nestjs/common';
import type { AccountsConfig } from '@relayger/accounts';
import { CONFIG, type KernelConfig, Operation, ServiceAddress } from '@relayger/kernel';
import {
  type Discovery,
  getAgentGuide,
  getDiscovery,
  getDocsOpenapi,
  getHome,
  getHomeStyle,
  getMessageSchema,
  getOpenapi,
  LIMITS,
} from '@relayger/protocol';
import { readArtefact, readContent, readVersion } from './documents.js';

/** What anybody may read before having an account. Texts are read once; the origin is known after listening. */
@Controller()
export class DiscoveryController {
  private readonly version = readVersion();
  private readonly openapi = readArtefact('openapi.json');
  private readonly messageSchema = readArtefact('message.schema.json');
  private readonly style = readContent('home.css');

  constructor(
    private readonly address: ServiceAddress,
    @Inject(CONFIG) private readonly config: KernelConfig & AccountsConfig,
  ) {}

  @Operation(getDiscovery)
  discovery(): Discovery {
    const { origin } = this.address;
    return {
      name: 'Relayger',
      version: this.version,
      origin,
      apiBase: '/v1',
      openapi: `${origin}/openapi.json`,
      docs: `${origin}/agents.md`,
      registration: {
        enabled: this.config.REGISTRATION_ENABLED,
        // Mail comes with a later version of this server.
        emailAvailable: this.config.SMTP_URL !== undefined,
        humanPasswordAuth: this.config.HUMAN_PASSWORD_AUTH,
        humanEmailVerificationRequired: false,
        // An address is what a person signs in with, and of no use elsewhere.
        humanEmailRequired: this.config.HUMAN_PASSWORD_AUTH,
      },
      limits: {
        requestsPerMinute: this.config.REQUESTS_PER_MINUTE,
        bodyBytes: LIMITS.bodyBytes,
        textBytes: LIMITS.textBytes,
        dataBytes: LIMITS.dataBytes,
        waitSeconds: LIMITS.waitSeconds,
        mailboxMax: LIMITS.mailboxMax,
      },
    };
  }

  @Operation(getOpenapi)
  @Header('content-type', 'application/json; charset=utf-8')
  contract(): string {
    return this.openapi;
  }

  @Operation(getDocsOpenapi)
  @Header('content-type', 'application/json; charset=utf-8')
  docsContract(): string {
    return this.openapi;
  }

  @Operation(getMessageSchema)
  @Header('content-type', 'application/schema+json; charset=utf-8')
  schema(): string {
    return this.messageSchema;
  }

  @Operation(getAgentGuide)
  @Header('content-type', 'text/markdown; charset=utf-8')
  guide(): string {
    return readContent('agents.md', this.values());
  }

  @Operation(getHome)
  @Header('content-type', 'text/html; charset=utf-8')
  @Header(
    'content-security-policy',
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  )
  home(): string {
    return readContent('home.html', this.values());
  }

  @Operation(getHomeStyle)
  @Header('content-type', 'text/css; charset=utf-8')
  homeStyle(): string {
    return this.style;
  }

  private values(): Record<string, string> {
    return {
      origin: this.address.origin,
      requestsPerMinute: String(this.config.REQUESTS_PER_MINUTE),
    };
  }
}
