// What a Node program does with a broker through KafkaJS, one printed line for each step:
//
//     node kafkajs.js host:port,host:port [faults]
const { Kafka, CompressionTypes, logLevel, ConfigResourceTypes, AclResourceTypes, AclOperationTypes, AclPermissionTypes, ResourcePatternTypes, PartitionAssigners } = require('kafkajs')

const servers = process.argv[2].split(',')
const run = `js-${Date.now()}`
const kafka = new Kafka({ brokers: servers, clientId: 'foreign', logLevel: logLevel.NOTHING, retry: { retries: 8 } })
const say = (step, ...what) => console.log(`${step}: ${what.map(w => typeof w === 'string' ? w : JSON.stringify(w)).join(' ').replaceAll(run, 'RUN')}`)
const pause = ms => new Promise(done => setTimeout(done, ms))
const attempt = async (step, promise, view = x => x) => {
  try { say(step, view(await promise)) } catch (error) { say(step, error.type || error.name, error.message) }
}

async function topics(admin) {
  const one = `${run}-one`
  await attempt('create', admin.createTopics({ topics: [{ topic: one, numPartitions: 3, configEntries: [{ name: 'retention.ms', value: '86400000' }] }] }))
  await attempt('create again', admin.createTopics({ topics: [{ topic: one }] }))
  await attempt('create bad', admin.createTopics({ topics: [{ topic: 'bad name' }] }))
  await attempt('create bad config', admin.createTopics({ topics: [{ topic: `${run}-bad`, configEntries: [{ name: 'no.such', value: '1' }] }] }))
  await attempt('list', admin.listTopics(), all => all.includes(one))
  await attempt('metadata', admin.fetchTopicMetadata({ topics: [one] }), m => m.topics[0].partitions.length)
  await attempt('metadata of none', admin.fetchTopicMetadata({ topics: [`${run}-none`] }))
  await attempt('grow', admin.createPartitions({ topicPartitions: [{ topic: one, count: 5 }] }))
  await attempt('shrink', admin.createPartitions({ topicPartitions: [{ topic: one, count: 2 }] }))
  await attempt('alter', admin.alterConfigs({ validateOnly: false, resources: [{ type: ConfigResourceTypes.TOPIC, name: one, configEntries: [{ name: 'cleanup.policy', value: 'compact' }] }] }), r => r.resources[0].errorCode)
  await pause(300)
  await attempt('configs', admin.describeConfigs({ includeSynonyms: true, resources: [{ type: ConfigResourceTypes.TOPIC, name: one, configNames: ['cleanup.policy', 'retention.ms'] }] }), r => r.resources[0].configEntries.map(e => [e.configName, e.configValue, e.isDefault]).sort())
  await attempt('cluster', admin.describeCluster(), c => [c.brokers.length > 0, c.controller !== null, c.clusterId.length])
  await attempt('delete', admin.deleteTopics({ topics: [one] }))
  // Told that there is no such topic, KafkaJS asks again and again: this one does so only once.
  const hasty = new Kafka({ brokers: servers, clientId: 'foreign', logLevel: logLevel.NOTHING, retry: { retries: 1 } }).admin()
  await hasty.connect()
  await attempt('delete again', hasty.deleteTopics({ topics: [`${run}-none`] }))
  await hasty.disconnect()
  await attempt('acls', admin.describeAcls({ resourceType: AclResourceTypes.ANY, resourcePatternType: ResourcePatternTypes.ANY, operation: AclOperationTypes.ANY, permissionType: AclPermissionTypes.ANY }))
  await attempt('create acl', admin.createAcls({ acl: [{ resourceType: AclResourceTypes.TOPIC, resourceName: 't', resourcePatternType: ResourcePatternTypes.LITERAL, principal: 'User:a', host: '*', operation: AclOperationTypes.READ, permissionType: AclPermissionTypes.ALLOW }] }))
  await attempt('reassign', admin.alterPartitionReassignments({ topics: [{ topic: `${run}-none`, partitionAssignment: [{ partition: 0, replicas: [99] }] }] }))
  await attempt('moves', admin.listPartitionReassignments({}))
}

async function records(admin) {
  const topic = `${run}-records`
  await admin.createTopics({ topics: [{ topic, numPartitions: 2 }], waitForLeaders: true })
  let count = 0
  for (const compression of [CompressionTypes.None, CompressionTypes.GZIP]) {
    for (const [acks, idempotent] of [[-1, false], [1, false], [0, false], [-1, true]]) {
      const producer = kafka.producer({ idempotent, maxInFlightRequests: 1 })
      await producer.connect()
      const messages = [{ key: 'k', value: 'v', headers: { h: 'x', many: ['1', '2'] } }, { key: null, value: 'no key' }, { key: 'tombstone', value: null }]
      await attempt(`send ${compression} ${acks} ${idempotent}`, producer.send({ topic, acks, compression, messages: messages.map(m => ({ ...m, partition: 0 })) }), r => r.length)
      count += messages.length
      await producer.disconnect()
    }
  }
  const producer = kafka.producer({ retry: { retries: 1 } })
  await producer.connect()
  await attempt('too large', producer.send({ topic, messages: [{ partition: 1, value: Buffer.alloc(3 << 20) }] }))
  await attempt('batch', producer.sendBatch({ topicMessages: [{ topic, messages: [{ partition: 1, value: 'a' }, { partition: 1, value: 'b' }] }] }), r => r.length)
  await producer.disconnect()
  await attempt('offsets', admin.fetchTopicOffsets(topic), rows => rows.sort((a, b) => a.partition - b.partition))
  await attempt('offsets by time', admin.fetchTopicOffsetsByTimestamp(topic, Date.now() - 3600000), rows => rows.sort((a, b) => a.partition - b.partition).map(r => r.offset))
  await attempt('delete records', admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '5' }] }))
  await attempt('offsets after', admin.fetchTopicOffsets(topic), rows => rows.sort((a, b) => a.partition - b.partition).map(r => r.low))
  const seen = await read(`${run}-reader`, topic, { fromBeginning: true }, 21)
  say('read', seen.length, seen.filter(m => m.key === null).length, seen.filter(m => m.value === null).length, seen.filter(m => m.headers.h).length)
}

// Reads until `wanted` messages have come, or for twenty seconds.
async function read(groupId, topic, subscription, wanted, options = {}) {
  const consumer = kafka.consumer({ groupId, heartbeatInterval: 500, sessionTimeout: 10000, maxWaitTimeInMs: 200, ...options })
  const seen = []
  await consumer.connect()
  await consumer.subscribe({ topic, ...subscription })
  await consumer.run({ autoCommitThreshold: 1, eachMessage: async ({ message, partition }) => { seen.push({ ...message, partition }) } })
  for (let i = 0; i < 200 && seen.length < wanted; i++) await pause(100)
  await consumer.stop()
  await consumer.disconnect()
  return seen
}

async function groups(admin) {
  const topic = `${run}-groups`, groupId = `${run}-group`
  await admin.createTopics({ topics: [{ topic, numPartitions: 4 }], waitForLeaders: true })
  const producer = kafka.producer()
  await producer.connect()
  await producer.send({ topic, messages: Array.from({ length: 40 }, (_, i) => ({ key: `${i}`, value: `${i}`, partition: i % 4 })) })
  const members = [], seen = []
  for (let i = 0; i < 2; i++) {
    const consumer = kafka.consumer({ groupId, heartbeatInterval: 300, sessionTimeout: 10000, maxWaitTimeInMs: 200, partitionAssigners: [PartitionAssigners.roundRobin] })
    await consumer.connect()
    await consumer.subscribe({ topic, fromBeginning: true })
    await consumer.run({ eachMessage: async ({ message }) => { seen.push(message.value.toString()) } })
    members.push(consumer)
  }
  for (let i = 0; i < 200 && new Set(seen).size < 40; i++) await pause(100)
  say('two members', new Set(seen).size)
  let described
  for (let i = 0; i < 100; i++) {
    described = (await admin.describeGroups([groupId])).groups[0]
    if (described.state === 'Stable' && described.members.length === 2) break
    await pause(200)
  }
  say('described', described.state, described.members.length, described.protocol)
  await attempt('list groups', admin.listGroups(), r => r.groups.some(g => g.groupId === groupId))
  await attempt('delete in use', admin.deleteGroups([groupId]))
  members[0].pause([{ topic }])
  members[0].resume([{ topic }])
  for (const member of members) await member.disconnect()
  await attempt('offsets', admin.fetchOffsets({ groupId, topics: [topic] }), r => r[0].partitions.sort((a, b) => a.partition - b.partition).map(p => p.offset))
  await attempt('reset', admin.resetOffsets({ groupId, topic, earliest: true }))
  await attempt('set', admin.setOffsets({ groupId, topic, partitions: [{ partition: 0, offset: '3' }] }))
  await attempt('offsets, all', admin.fetchOffsets({ groupId, resolveOffsets: true }), r => r[0].partitions.sort((a, b) => a.partition - b.partition).map(p => p.offset))
  await attempt('again', read(groupId, topic, { fromBeginning: true }, 37), s => s.length)
  await attempt('delete group', admin.deleteGroups([groupId]), r => r.map(x => x.errorCode))
  await attempt('delete group again', admin.deleteGroups([groupId]))
  await producer.disconnect()
}

async function transactions(admin) {
  const topic = `${run}-txn`
  await admin.createTopics({ topics: [{ topic, numPartitions: 1 }], waitForLeaders: true })
  const make = async () => { const p = kafka.producer({ transactionalId: `${run}-id`, maxInFlightRequests: 1, idempotent: true, retry: { retries: 5 } }); await p.connect(); return p }
  const producer = await make()
  for (const end of ['commit', 'abort', 'commit']) {
    const txn = await producer.transaction()
    await txn.send({ topic, messages: [{ value: end }, { value: end }] })
    if (end === 'commit') await txn.sendOffsets({ consumerGroupId: `${run}-txngroup`, topics: [{ topic, partitions: [{ partition: 0, offset: '2' }] }] })
    await attempt(end, txn[end]())
  }
  await attempt('offsets in transaction', admin.fetchOffsets({ groupId: `${run}-txngroup`, topics: [topic] }), r => r[0].partitions)
  const open = await producer.transaction()
  await open.send({ topic, messages: [{ value: 'zombie' }] })
  const other = await make()
  const txn = await other.transaction()
  await txn.send({ topic, messages: [{ value: 'new' }] })
  await attempt('fenced', open.commit())
  await attempt('new', txn.commit())
  await producer.disconnect()
  await other.disconnect()
  say('committed only', (await read(`${run}-rc`, topic, { fromBeginning: true }, 5)).map(m => m.value.toString()))
  say('all', (await read(`${run}-ru`, topic, { fromBeginning: true }, 8, { readUncommitted: true })).map(m => m.value.toString()))
}

// Run while brokers are killed: numbers go through an idempotent producer and are read by two members of a group.
async function faults(admin) {
  const topic = `${run}-faults`, groupId = `${run}-group`, numbers = 1000
  await admin.createTopics({ topics: [{ topic, numPartitions: 3 }], waitForLeaders: true })
  console.log('ready')
  const patient = new Kafka({ brokers: servers, clientId: 'foreign', logLevel: logLevel.NOTHING, retry: { retries: 60, maxRetryTime: 1000 } })
  const members = [], seen = new Set()
  for (let i = 0; i < 2; i++) {
    const consumer = patient.consumer({ groupId, heartbeatInterval: 500, sessionTimeout: 10000, maxWaitTimeInMs: 200 })
    await consumer.connect()
    await consumer.subscribe({ topic, fromBeginning: true })
    await consumer.run({ eachMessage: async ({ message }) => { seen.add(message.value.toString()) } })
    members.push(consumer)
  }
  const producer = patient.producer({ idempotent: true, maxInFlightRequests: 1 })
  await producer.connect()
  for (let i = 0; i < numbers; i++) {
    await producer.send({ topic, messages: [{ value: `${i}`, partition: i % 3 }] })
    await pause(10)
  }
  const deadline = Date.now() + 120000
  while (seen.size < numbers && Date.now() < deadline) await pause(100)
  say('seen by the group', seen.size)
  const ends = await admin.fetchTopicOffsets(topic)
  say('written', ends.map(p => Number(p.high)).reduce((a, b) => a + b))
  for (const member of members) await member.disconnect()
  await producer.disconnect()
}

async function main() {
  const admin = kafka.admin()
  await admin.connect()
  if (process.argv[3] === 'faults') {
    await faults(admin)
    return admin.disconnect()
  }
  for (const part of [topics, records, groups, transactions]) await part(admin)
  for (const suffix of ['records', 'groups', 'txn']) await admin.deleteTopics({ topics: [`${run}-${suffix}`] })
  await admin.disconnect()
}
main().catch(error => { console.log('FAILED', error); process.exit(1) })
