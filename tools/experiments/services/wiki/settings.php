// SPDX-License-Identifier: Apache-2.0
$wgServer = 'http://127.0.0.1:' . ( $_SERVER['SERVER_PORT'] ?? 80 );
$wgMainCacheType = CACHE_MEMCACHED;
$wgParserCacheType = CACHE_MEMCACHED;
$wgMessageCacheType = CACHE_MEMCACHED;
$wgSessionCacheType = CACHE_MEMCACHED;
$wgMemCachedServers = [ 'unix://' . __DIR__ . '/run/cache.socket' ];
$wgMemCachedPersistent = true;
$wgParserCacheExpireTime = 1000000000;
$wgCacheDirectory = __DIR__ . '/cache';
$wgLocalisationCacheConf['store'] = 'array';
$wgLocalisationCacheConf['manualRecache'] = true;
$wgTmpDirectory = __DIR__ . '/tmp';
// Run no jobs besides answering requests.
$wgJobRunRate = 0;
$wgPingback = false;
$wgEnableUploads = false;
$wgReadOnly = file_exists( __DIR__ . '/made' ) ? 'It is being measured.' : null;
